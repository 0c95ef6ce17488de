/** The mark of the product: a gate in a stream. */
export const Logo = () => (
  <svg viewBox="0 0 24 24" aria-hidden="true">
    <path
      d="M4 3v18M20 3v18M8 3v9M12 3v6M16 3v9M6 17c2-2 4-2 6 0s4 2 6 0"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
    />
  </svg>
);
