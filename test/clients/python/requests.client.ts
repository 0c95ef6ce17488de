/** Python's `requests`, which reads HTTP chunk by chunk. */
import { pythonClient } from './python-client.ts';

export default pythonClient({
  name: 'requests',
  packages: { requests: '2.34.2', urllib3: '2.8.0' },
  script: 'requests_checks.py',
  blocks: { chat: /\w+ \w+/ },
});
