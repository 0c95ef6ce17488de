import { pythonClient } from './python-client.ts';

export default pythonClient({
  name: 'schemathesis',
  packages: { schemathesis: '4.32.5' },
  script: 'x',
  blocks: {},
});
