/** A child process that writes its output file forever and ignores closed pipes. */
import { createCodec } from '../../src/codec/codec.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';

createCodec()
  .convert(
    undefined,
    {
      inputArguments: ['-re', '-f', 'lavfi', '-i', 'sine=frequency=440'],
      arguments: ['-f', 'wav'],
      maxBytes: 1e9,
      timeoutMs: 60_000,
      seekableOutput: true,
    },
    new Backpressure(),
  )
  .subscribe();
