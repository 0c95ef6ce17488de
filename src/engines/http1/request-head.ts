/** Writes request heads, rejecting values that could inject further lines. */

export interface RequestLines {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Names and values alternate; none of those that this file writes itself. */
  readonly headers: readonly string[];
}

const pathText = /^\/[\x21-\x7e]*$/;
const nameText = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
const valueText = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * What many requests begin with. `fixed` are the lines that are the same for every request to this host. Throws a
 * sentence that names the fault.
 */
export const requestStart = (lines: RequestLines, fixed: string): string => {
  const { method, path, headers } = lines;
  if (!pathText.test(path)) throw new Error('The path of the request cannot be sent');
  let head = `${method} ${path} HTTP/1.1\r\n${fixed}`;
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? '';
    const value = headers[index + 1] ?? '';
    if (!nameText.test(name)) throw new Error('The name of a header cannot be sent');
    if (!valueText.test(value)) throw new Error(`The value of the header ${name} cannot be sent`);
    head += `${name}: ${value}\r\n`;
  }
  return head;
};

/** The whole head; without a length the request has no body. `more` are whole lines, already checked. */
export const requestHead = (
  start: string,
  requestId: string | undefined,
  contentLength: number | undefined,
  more = '',
): string => {
  if (requestId !== undefined && !valueText.test(requestId))
    throw new Error('The id of the request cannot be sent');
  const id = requestId === undefined ? '' : `x-request-id: ${requestId}\r\n`;
  return `${start}${id}${more}${contentLength === undefined ? '' : `content-length: ${contentLength}\r\n`}\r\n`;
};

export const fixedLines = (host: string): string => `host: ${host}\r\nconnection: keep-alive\r\n`;
