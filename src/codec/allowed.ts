/** What ffmpeg may open and decode of a stranger's file: one protocol, a few formats and decoders. */

/** Readers of `sound-format.ts` and `input.ts`, and raw samples and pictures of ours. */
const formats = [
  ...['wav', 'mp3', 'flac', 'ogg', 'aac', 'mov', 'mp4', 'm4a', '3gp', '3g2', 'mj2', 'matroska', 'webm'],
  ...['hevc', 's16le', 'rawvideo'],
];

/** By the names of decoders: builds have one or another of those for a codec. */
const decoders = [
  ...['mp3float', 'mp3', 'aac', 'aac_latm', 'flac', 'opus', 'libopus', 'vorbis', 'libvorbis', 'alac'],
  ...['pcm_u8', 'pcm_s16le', 'pcm_s16be', 'pcm_s24le', 'pcm_s24be', 'pcm_s32le', 'pcm_s32be'],
  ...['pcm_f32le', 'pcm_f32be', 'pcm_f64le', 'pcm_alaw', 'pcm_mulaw', 'adpcm_ms', 'adpcm_ima_wav'],
  ...['ac3', 'eac3', 'mp2float', 'mp2', 'h264', 'hevc', 'vp8', 'libvpx', 'vp9', 'libvpx-vp9'],
  ...['libdav1d', 'libaom-av1', 'av1', 'mpeg4', 'mjpeg', 'prores', 'rawvideo'],
];

/** Of one picture: 8192 × 8192. */
const mostPixels = 8192 * 8192;

/** Options before an input that is not ours; subtitles and data in it are never looked at. */
export const allowed = (protocol: 'pipe' | 'file'): readonly string[] => [
  ...['-protocol_whitelist', protocol, '-format_whitelist', formats.join(), '-codec_whitelist'],
  ...[decoders.join(), '-max_pixels', String(mostPixels), '-sn', '-dn'],
];
