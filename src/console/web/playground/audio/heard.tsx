/** How much of a sound has arrived and been heard, while it plays. */
import { useEffect, useState } from 'preact/hooks';
import type { PcmPlayer } from './player.ts';

const everyMs = 200;

export const Heard = ({ player }: { readonly player: PcmPlayer }) => {
  const [, again] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => again((count) => count + 1), everyMs);
    return () => clearInterval(timer);
  }, []);
  return (
    <p>
      Heard {player.heard.toFixed(1)} s of {player.arrived.toFixed(1)} s that have arrived.
    </p>
  );
};
