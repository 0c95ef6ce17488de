/** Cuts a prompt into blocks and hashes each together with all before it. */
import type { ChatMessage, MediaContent, UserContent } from '../../../ports/engines/chat.ts';
import type { PromptCall } from './policy.ts';
import { mixed, textHash } from './text-hash.ts';

/** Bytes; some 128 tokens of English. */
export const BLOCK_BYTES = 512;
/** Further ones are not looked at: a prompt that is the same so far is taken to be the same. */
export const MOST_BLOCKS = 512;
const WORDS = BLOCK_BYTES / 4;
const MOST_BYTES = BLOCK_BYTES * MOST_BLOCKS;
/** Of a picture or recording, from each end. */
const MEDIA_SAMPLE = 64;
/** Blocks that distinguish conversations of plain texts. */
const TEXT_KEY_BLOCKS = 4;

/** Reused for every prompt: a choice is made synchronously. */
export class PromptBlocks {
  /** Whole blocks. */
  count = 0;
  /** Two numbers for each block: its hash with all blocks before it. */
  readonly chain = new Int32Array(2 * MOST_BLOCKS);
  /** The same for every turn of a conversation: a hash of all up to the end of its first user message. */
  key = 0;
  readonly #bytes = Buffer.from(new ArrayBuffer(MOST_BYTES));
  readonly #words = new Int32Array(this.#bytes.buffer);
  #length = 0;
  #keyLength = 0;

  /** False, and nothing hashed, for a prompt with fewer blocks than `least`. */
  read(model: string, call: PromptCall, least: number): boolean {
    this.#length = 0;
    this.#keyLength = 0;
    if ('prompts' in call) this.#addTexts(call.prompts);
    else {
      if (isShort(call.messages, least * BLOCK_BYTES)) return false;
      for (const { name, description = '' } of call.tools) {
        this.#add(name);
        this.#add(description);
      }
      for (const message of call.messages) this.#addMessage(message);
    }
    this.count = Math.floor(this.#length / BLOCK_BYTES);
    if (this.count < least) return false;
    this.#hash(textHash(model, 0));
    return true;
  }

  #addTexts(prompts: readonly (string | readonly number[])[]): void {
    const first = prompts[0] ?? '';
    if (typeof first === 'string') this.#add(first);
    else {
      const count = Math.min(first.length, this.#words.length);
      for (let index = 0; index < count; index++) this.#words[index] = first[index] ?? 0;
      this.#length = 4 * count;
    }
    this.#keyLength = Math.min(this.#length, TEXT_KEY_BLOCKS * BLOCK_BYTES);
  }

  #addMessage(message: ChatMessage): void {
    if (this.#length < MOST_BYTES) this.#bytes[this.#length++] = markOf(message.role);
    for (const part of message.content) this.#addContent(part);
    if (message.role === 'assistant')
      for (const { name, arguments: words } of message.toolCalls) {
        this.#add(name);
        this.#add(words);
      }
    if (message.role === 'user' && this.#keyLength === 0) this.#keyLength = this.#length;
  }

  #addContent(part: UserContent): void {
    if (part.type === 'text') this.#add(part.text);
    else this.#addMedia(part);
  }

  /** Megabytes are identified by their length and both ends. */
  #addMedia({ mediaType, base64 }: MediaContent): void {
    this.#add(`${mediaType} ${base64.length}`);
    const first = base64.slice(0, MEDIA_SAMPLE);
    const last = base64.slice(-MEDIA_SAMPLE);
    this.#add(typeof first === 'string' ? first : Buffer.from(first).toString('latin1'));
    this.#add(typeof last === 'string' ? last : Buffer.from(last).toString('latin1'));
  }

  /** One byte a character, the low one: enough to tell texts apart in any script, and a plain copy for most. */
  #add(text: string): void {
    if (this.#length < MOST_BYTES && text.length > 0)
      this.#length += this.#bytes.write(text, this.#length, 'latin1');
  }

  /** Four lanes, since each multiplication waits for the one before, and two words for each: 0.7 µs for 8 KB. */
  #hash(seed: number): void {
    const words = this.#words;
    const { chain, count } = this;
    const keyBlock = Math.floor(this.#keyLength / BLOCK_BYTES);
    let a = seed;
    let b = seed ^ 0x3c6ef372;
    let c = seed ^ 0x27d4eb2f;
    let d = seed ^ 0x165667b1;
    let at = 0;
    let key = seed;
    for (let block = 0; block < count; block++) {
      // Factors are 3 or 5 modulo 8: two letters that change their case do not cancel each other out.
      for (const end = at + WORDS; at < end; at += 8) {
        a = rotated(Math.imul(a ^ (words[at] as number), 0x85ebca6b) ^ (words[at + 4] as number));
        b = rotated(Math.imul(b ^ (words[at + 1] as number), 0xc2b2ae35) ^ (words[at + 5] as number));
        c = rotated(Math.imul(c ^ (words[at + 2] as number), 0x1b873593) ^ (words[at + 6] as number));
        d = rotated(Math.imul(d ^ (words[at + 3] as number), 0x5bd1e995) ^ (words[at + 7] as number));
      }
      const one = mixed(a ^ rotated(c));
      const two = mixed(b ^ rotated(d) ^ one);
      chain[2 * block] = one;
      chain[2 * block + 1] = two;
      if (block < keyBlock) key = one;
    }
    this.key = this.#hashRest(key, keyBlock * BLOCK_BYTES);
  }

  /** What the first user message has after its last whole block. */
  #hashRest(seed: number, from: number): number {
    const words = this.#words;
    const end = this.#keyLength >> 2;
    let hash = seed;
    for (let at = from >> 2; at < end; at++)
      hash = rotated(Math.imul(hash ^ (words[at] as number), 0x85ebca6b));
    // Of the last word, only the bytes that are its own.
    const bits = 8 * (this.#keyLength & 3);
    const last = bits === 0 ? 0 : (words[end] as number) & ((1 << bits) - 1);
    return mixed(Math.imul(hash ^ last, 0xc2b2ae35) ^ this.#keyLength);
  }
}

const rotated = (bits: number): number => (bits << 13) | (bits >>> 19);

/** A byte before each message that no text has. */
const markOf = (role: ChatMessage['role']): number => {
  if (role === 'user') return 2;
  if (role === 'assistant') return 3;
  return role === 'tool' ? 4 : 1;
};

/** A look at the lengths alone: most prompts that are not worth a hash are found by it. */
const isShort = (messages: readonly ChatMessage[], bytes: number): boolean => {
  let length = 0;
  for (const { content } of messages)
    for (const part of content) {
      length += part.type === 'text' ? part.text.length : 2 * MEDIA_SAMPLE;
      if (length >= bytes) return false;
    }
  return true;
};
