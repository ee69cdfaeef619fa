const hex = (value: number): string => Math.min(255, value).toString(16).padStart(2, '0');

/**
 * Converts a colour as depictions write it ("#0c5", "#00CC55", "rgb(0, 204, 85)"; transparency is ignored) to
 * "#rrggbb". Null if it is none, or written in another way.
 */
export const readTint = (written: unknown): string | null => {
  if (typeof written !== 'string') return null;
  const text = written.trim().toLowerCase();
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])[0-9a-f]?$/.exec(text);
  if (short !== null)
    return `#${short
      .slice(1)
      .map((digit) => digit.repeat(2))
      .join('')}`;
  const long = /^(#[0-9a-f]{6})(?:[0-9a-f]{2})?$/.exec(text);
  if (long !== null) return long[1] ?? null;
  const parts = /^rgba?\( *(\d{1,3}) *, *(\d{1,3}) *, *(\d{1,3}) *(?:, *[\d.]{1,6}%? *)?\)$/.exec(text);
  return parts === null
    ? null
    : `#${parts
        .slice(1)
        .map((part) => hex(Number(part)))
        .join('')}`;
};

// WCAG 2.2, "relative luminance".
const luminance = (colour: string): number => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

/** The contrast between two colours, "#rrggbb": 1 to 21 (WCAG 2.2, "contrast ratio"). */
export const contrastOf = (one: string, other: string): number => {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
};
