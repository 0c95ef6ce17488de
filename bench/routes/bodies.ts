/** Builds request bodies as latin1 text with their content type: JSON, forms, and shared ones. */

export interface Sent {
  readonly body: string;
  readonly type: string;
}

export const json = (value: object): Sent => ({ body: JSON.stringify(value), type: 'application/json' });

const boundary = 'bench-0123456789';

export const form = (fields: Readonly<Record<string, string>>, fileName: string, file: string): Sent => {
  const part = (head: string, content: string): string =>
    `--${boundary}\r\ncontent-disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
  const parts = Object.entries(fields).map(([name, value]) => part(`name="${name}"`, value));
  return {
    body: `${parts.join('')}${part(`name="file"; filename="${fileName}"`, file)}--${boundary}--\r\n`,
    type: `multipart/form-data; boundary=${boundary}`,
  };
};

const pngUri =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAMAAABEpIrGAAAAA1BMVEXQQCDh5GcnAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAE0lEQVQ4jWNgGAWjYBSMAgasAAAEIAABMVaGxQAAAABJRU5ErkJggg==';

/** Small: the simulator's drawing is not what is measured. */
export const picture = (model: string, response_format: 'b64_json' | 'url', edited = false): Sent =>
  json({
    model,
    prompt: 'A lock',
    size: '64x64',
    response_format,
    ...(edited ? { images: [{ image_url: pngUri }] } : {}),
  });

export const video = json({ model: 'near/video', prompt: '/sim render=0s\nA lock', duration: 1 });
export const song = json({
  model: 'near/music',
  prompt: '/sim render=0s\nWater',
  duration: 1,
  response_format: 'wav',
});

/** The first line controls the simulator: a response as long as in the other scenarios, without pacing. */
export const question =
  '/sim tokens=64 rate=max\nWhat does the handbook say of the gates of a lock, and who may open them when the water is high?';
