/** Decides from its content type and its first bytes what kind of sound an engine sends. */
import { type ApiError, fail } from '../../errors.ts';
import { beginsWithAdts, beginsWithMp3, holdsMp3 } from '../../media/audio-frames.ts';
import { headLength, sniffMediaType } from '../../media/media-type.ts';

export type EngineFormat = 'pcm' | 'wav' | 'mp3' | 'opus' | 'flac' | 'aac';

export interface AskedSound {
  readonly format: EngineFormat;
  /** Of samples. */
  readonly rate: number;
}

export type SoundFormat =
  /** 16 bits each, little-endian. */
  | { readonly kind: 'samples'; readonly rate: number; readonly channels: number }
  /** A demuxer of ffmpeg; undefined for what has to be read from a file. */
  | { readonly kind: 'file'; readonly demuxer: string | undefined };

/** By media type, those that can be decoded as they come. */
const demuxers: Readonly<Record<string, string | undefined>> = {
  'audio/wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/flac': 'flac',
  'audio/ogg': 'ogg',
  'audio/aac': 'aac',
  'video/webm': 'matroska',
  'video/x-matroska': 'matroska',
  'audio/mp4': undefined,
  'video/mp4': undefined,
  'video/quicktime': undefined,
};
const askedDemuxers = { wav: 'wav', mp3: 'mp3', opus: 'ogg', flac: 'flac', aac: 'aac' } as const;

/** Names of formats in content types whose bytes cannot be taken for samples. */
const packed = /^audio\/(?:x-)?(?:mpeg|mp3|mpeg3|aac|aacp|flac|ogg|opus|webm|mp4|m4a)\b/i;
const samplesType = /^audio\/(?:x-)?(?:pcm|l16|raw)\b/i;

/**
 * Undefined while there are too few bytes to tell; `isAll`: no more will come. The bytes win over the content type.
 * Throws for text, and for bytes that are not what the content type says.
 */
export const soundFormat = (
  head: Buffer,
  isAll: boolean,
  contentType: string,
  asked: AskedSound,
): SoundFormat | undefined => {
  const isEnough = isAll || head.length >= headLength;
  if (!isEnough && head.length < longestSignature) return undefined;
  const type = typeOf(head, contentType, isEnough);
  if (type === 'undecided') return undefined;
  if (type !== undefined) return { kind: 'file', demuxer: demuxers[type] };
  if (isText(head)) {
    if (isEnough || head.length >= shortestText) throw undecodable(new Error('It is text'));
    return undefined;
  }
  if (asked.format !== 'pcm' && !samplesType.test(contentType))
    return { kind: 'file', demuxer: askedDemuxers[asked.format] };
  if (packed.test(contentType)) throw undecodable(new Error(`It is not ${contentType}`));
  return { kind: 'samples', ...layoutOf(contentType, asked) };
};

export const undecodable = (cause: unknown): ApiError =>
  fail('engine_unreachable', 'The engine sent sound that cannot be decoded', { cause });

/** Of all formats with a file header. */
const longestSignature = 64;

/** A sample may look like the beginning of a frame: only several frames in a row are sound in frames. */
const typeOf = (head: Buffer, contentType: string, isEnough: boolean): string | 'undecided' | undefined => {
  if (head[0] === 0xff)
    for (const [type, answer] of [
      ['audio/mpeg', beginsWithMp3(head)],
      ['audio/aac', beginsWithAdts(head)],
    ] as const) {
      if (answer === 'yes') return type;
      if (answer === 'undecided' && !isEnough) return 'undecided';
    }
  else {
    const type = sniffMediaType(head.subarray(0, longestSignature));
    if (type !== undefined && Object.hasOwn(demuxers, type)) return type;
  }
  if (!packed.test(contentType)) return undefined;
  // It may begin between two frames.
  if (holdsMp3(head)) return 'audio/mpeg';
  return isEnough ? undefined : 'undecided';
};

const shortestText = 128;

/** Samples with both bytes printable, one after another, would be noise at full volume. */
const isText = (head: Buffer): boolean =>
  head.length > 0 &&
  head.subarray(0, shortestText).every((byte) => (byte >= 0x20 && byte < 0x7f) || (byte >= 9 && byte <= 13));

const layoutOf = (contentType: string, asked: AskedSound) => {
  const stated = (name: string, most: number): number | undefined => {
    const value = Number(new RegExp(`;\\s*${name}=(\\d{1,6})\\b`, 'i').exec(contentType)?.[1]);
    return value >= 1 && value <= most ? value : undefined;
  };
  return { rate: stated('rate', 192_000) ?? asked.rate, channels: stated('channels', 8) ?? 1 };
};
