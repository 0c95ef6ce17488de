/** A port that every subscription has alike. */
import type { Shared } from '../src/ports/shared.ts';

export const shared = <Port>(port: Port): Shared<Port> => ({ for: () => port, stats: () => ({}) });
