/** Calls the tokenizer of an engine. */
import type { Observable } from 'rxjs';
import type { Model } from '../../../schemas/catalog.ts';
import type { EngineRow } from '../../../schemas/engines.ts';
import type { Flow } from '../../ports/engines/engine.ts';
import type { DetokenizeCall, TokenizeCall, Tokenized } from '../../ports/engines/tokenize.ts';
import type { EngineCalls } from '../calls.ts';
import type { TokenizerWire } from '../wire.ts';

interface TokenizerOperations {
  tokenize(model: Model, call: TokenizeCall, flow: Flow): Observable<Tokenized>;
  detokenize(model: Model, call: DetokenizeCall, flow: Flow): Observable<string>;
}

/** `api` is which requests the engine takes. */
export const tokenizeOverHttp = (
  wire: TokenizerWire,
  calls: EngineCalls,
  api: NonNullable<EngineRow['tokenizer_api']>,
): TokenizerOperations => ({
  tokenize: (model, call, flow) =>
    calls.decoded(wire.encodeText(model, call, api), flow, wire.decodeTokens(call)),
  detokenize: (model, call, flow) =>
    calls.decoded(wire.encodeTokens(model, call, api), flow, wire.decodeText()),
});
