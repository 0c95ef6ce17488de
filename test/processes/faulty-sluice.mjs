/** `sluice` with a fault outside of any request: on SIGUSR2 a timer throws, a promise rejects, or a loop has no end. */
import { run } from '../../dist/src/cli/main.js';

const fault = () => {
  const error = new Error('injected');
  while (process.env.TEST_FAULT === 'endless loop');
  if (process.env.TEST_FAULT === 'unhandledRejection') void Promise.reject(error);
  else
    setTimeout(() => {
      throw error;
    });
};

// For a supervisor the signal has a meaning; its children get the fault.
if (!process.argv.includes('--processes')) process.on('SIGUSR2', fault);

process.exitCode = await run(process.argv.slice(2));
