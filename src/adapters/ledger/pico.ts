/** Dollars as a decimal text ↔ whole millionths of a millionth of a dollar: sums of integers are exact in any database. */

const digits = 12;

/** More than twelve digits after the point are rounded half up. */
export const toPico = (dollars: string): bigint => {
  const [whole = '0', fraction = ''] = dollars.split('.');
  const kept = BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'));
  return (fraction[digits] ?? '0') >= '5' ? kept + 1n : kept;
};

export const formatPico = (pico: bigint): string => {
  const text = pico.toString().padStart(digits + 1, '0');
  const fraction = text.slice(-digits).replace(/0+$/, '');
  return fraction === '' ? text.slice(0, -digits) : `${text.slice(0, -digits)}.${fraction}`;
};
