/** What is asked, and of whom → the lines of a request's head, in which nothing can pass for another line. */

export interface RequestLines {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Names and values by turns; none of those that this file writes itself. */
  readonly headers: readonly string[];
  /** Absent: the request has no body. */
  readonly contentLength: number | undefined;
}

const pathText = /^\/[\x21-\x7e]*$/;
const nameText = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
const valueText = /^[\t\x20-\x7e\x80-\xff]*$/;

/** `fixed` are the lines that are the same for every request to this host. Throws a sentence that names the fault. */
export const requestHead = (lines: RequestLines, fixed: string): string => {
  const { method, path, headers, contentLength } = lines;
  if (!pathText.test(path)) throw new Error('The path of the request cannot be sent');
  let head = `${method} ${path} HTTP/1.1\r\n${fixed}`;
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? '';
    const value = headers[index + 1] ?? '';
    if (!nameText.test(name)) throw new Error('The name of a header cannot be sent');
    if (!valueText.test(value)) throw new Error(`The value of the header ${name} cannot be sent`);
    head += `${name}: ${value}\r\n`;
  }
  return contentLength === undefined ? `${head}\r\n` : `${head}content-length: ${contentLength}\r\n\r\n`;
};

export const fixedLines = (host: string): string => `host: ${host}\r\nconnection: keep-alive\r\n`;
