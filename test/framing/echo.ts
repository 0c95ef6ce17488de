/** The words in which every server of the framing suite repeats the request that it has read. */
export const echo = (method: string, path: string, query: string, body: string): string =>
  [
    `${method} ${path}${query === '' ? '' : `?${short(query, String(query.length))}`}`,
    ...(method === 'POST' ? [short(body, `${body.length} bytes`)] : []),
  ].join(' ');

const short = (text: string, otherwise: string): string =>
  text.length > 40 ? otherwise : text.replace(/[^\r\n -~]/g, '?');
