/** `sluice` with a fault outside of any request: on SIGUSR2 a timer throws, a promise rejects, or a loop has no end; or a part never closes. */
import { run } from '../../dist/src/cli/main.js';
import { Opened } from '../../dist/src/helpers/opened.js';

const fault = () => {
  const error = new Error('injected');
  while (process.env.TEST_FAULT === 'endless loop');
  if (process.env.TEST_FAULT === 'unhandledRejection') void Promise.reject(error);
  else
    setTimeout(() => {
      throw error;
    });
};

if (process.env.TEST_FAULT === 'never closed') Opened.prototype.close = () => new Promise(() => undefined);
if (process.env.TEST_FAULT === 'not closed') {
  const { close } = Opened.prototype;
  Opened.prototype.close = function () {
    this.onClose(() => Promise.reject(new Error('injected')));
    return close.call(this);
  };
}

// For a supervisor the signal has a meaning; its children get the fault.
if (!process.argv.includes('--processes')) process.on('SIGUSR2', fault);

process.exitCode = await run(process.argv.slice(2));
