/** Content of messages in a chat, and small schemas that several formats share. */
import Type, { type Static } from 'typebox';

export const JsonObject = Type.Record(Type.String(), Type.Unknown());
export const FunctionName = Type.String({
  pattern: '^[a-zA-Z0-9_-]{1,64}$',
  expected: '1 to 64 letters, digits, underscores and dashes',
  description: '1 to 64 letters, digits, underscores and dashes',
});

/** A string to the client; the parser returns long base64 as bytes, so the reader checks it. */
export const MediaText = (description: string) => Type.Unknown({ description: `A string: ${description}` });

export const ImageDetail = Type.Enum(['auto', 'low', 'high', 'original'], {
  description: 'How closely the model looks at the image, on engines that offer the choice',
});

export const InputAudio = Type.Object(
  {
    data: MediaText('base64 of the recording, not a data URI'),
    format: Type.Enum(['wav', 'mp3', 'flac', 'm4a', 'ogg', 'webm', 'aac', 'aiff'], {
      description: 'The container that the recording is in',
    }),
  },
  { description: 'A recording, for models that take audio' },
);

/** One object for every kind of part, so that an error names the field and not a list of alternatives. */
export const ContentPart = Type.Object({
  type: Type.Enum(['text', 'image_url', 'input_audio', 'video_url', 'file', 'refusal'], {
    description: 'Names the field that holds the content; media parts belong in `user` messages',
  }),
  text: Type.Optional(Type.String({ description: 'Of a `text` part' })),
  image_url: Type.Optional(
    Type.Object(
      {
        url: MediaText('https URL or base64 data URI'),
        detail: Type.Optional(ImageDetail),
      },
      { description: 'An image, for models that take images' },
    ),
  ),
  input_audio: Type.Optional(InputAudio),
  video_url: Type.Optional(
    Type.Object(
      { url: MediaText('https URL or base64 data URI') },
      { description: 'A video, for models that take video' },
    ),
  ),
  file: Type.Optional(
    Type.Object(
      {
        filename: Type.Optional(Type.String({ maxLength: 255, description: 'Shown to the model' })),
        file_data: Type.Optional(MediaText('base64 data URI or https URL')),
        file_id: Type.Optional(Type.String({ description: 'Refused: no files are stored' })),
      },
      { description: 'A document; it is converted to text, so that every chat model can read it' },
    ),
  ),
  refusal: Type.Optional(Type.String({ description: 'Of a `refusal` part that a client replays' })),
});
export type ContentPart = Static<typeof ContentPart>;
