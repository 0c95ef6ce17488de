/** How large the pictures of a request may be, and the error of those that are larger together. */
import { type ApiError, fail } from '../../src/errors.ts';

const mebibyte = 1024 * 1024;

export const maxImageBytes = 20 * mebibyte;
export const maxTotalBytes = 64 * mebibyte;

export const tooLargeTogether = (): ApiError =>
  fail('payload_too_large', `The images are larger than the limit of ${maxTotalBytes} bytes together`);
