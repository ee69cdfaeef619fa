const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

// RFC 5322 §4.3. Any other zone name counts as UTC, because nobody can know what was meant.
const obsoleteZones: ReadonlyMap<string, number> = new Map([
  ['EDT', -4],
  ['EST', -5],
  ['CDT', -5],
  ['CST', -6],
  ['MDT', -6],
  ['MST', -7],
  ['PDT', -7],
  ['PST', -8],
]);

const datePattern =
  /^(?:[A-Za-z]{3,9}[,.]?\s+)?(\d{1,2})\s+([A-Za-z]{3})[a-z]*\s+(\d{2,4})\s+(\d{1,2}):(\d{1,2})(?::(\d{1,2}))?(?:\s*([+-])(\d{2}):?(\d{2})|\s*([A-Za-z]{1,5}))?$/;

// What C's asctime writes, always of UTC: another form of dates in HTTP (RFC 9110 §5.6.7), which apt reads too.
const asctimePattern =
  /^(?:[Mm]on|[Tt]ue|[Ww]ed|[Tt]hu|[Ff]ri|[Ss]at|[Ss]un)\s+([A-Za-z]{3})\s+(\d{1,2})\s+(\d{1,2}:\d{2}:\d{2})\s+(\d{4})$/;

/**
 * Parses a date of a Release file (RFC 5322 with its obsolete zones, where Debian writes `UTC`, or that of asctime). Null
 * if the text is no date, or names a day or time that does not exist. Without a zone it is UTC. The day of the week is
 * not checked.
 */
export const parseDate = (text: string): Date | null => {
  if (text.length > 200) return null;
  const plain = text.replace(/\([^()]*\)/g, ' ').trim();
  const match = datePattern.exec(plain.replace(asctimePattern, '$2 $1 $4 $3'));
  if (!match) return null;
  const [, day, monthName = '', yearText = '', hour, minute, second = '0', sign, zoneHours, zoneMinutes, zone] = match;
  const month = months.indexOf(monthName.toLowerCase());
  const year = fullYear(yearText);
  const clock = [Number(hour), Number(minute), Number(second)] as const;
  if (month === -1 || clock[0] > 23 || clock[1] > 59 || clock[2] > 60) return null;
  const local = new Date(0);
  local.setUTCFullYear(year, month, Number(day));
  if (local.getUTCMonth() !== month || local.getUTCDate() !== Number(day)) return null;
  local.setUTCHours(...clock);

  let offsetMinutes = (obsoleteZones.get(zone?.toUpperCase() ?? '') ?? 0) * 60;
  if (sign !== undefined) {
    if (Number(zoneMinutes) > 59) return null;
    offsetMinutes = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -1 : 1);
  }
  return new Date(local.getTime() - offsetMinutes * 60_000);
};

const aptPattern =
  /^(?:[Mm]on|[Tt]ue|[Ww]ed|[Tt]hu|[Ff]ri|[Ss]at|[Ss]un),\s+\d{1,2}\s+[A-Za-z]+\s+\d{2,4}\s+\d{1,2}:\d{2}:\d{2}\s+(?:UTC|GMT|Z|[+-]0000)$/;

/**
 * Whether apt, too, reads a date as `parseDate` does (RFC1123StrToTime): it wants the day of the week, the seconds, and
 * UTC under one of four names or, in that of asctime, no zone.
 */
export const isDateOfApt = (text: string): boolean =>
  text.length <= 200 && (aptPattern.test(text.trim()) || asctimePattern.test(text.trim()));

/** RFC 5322 §4.3: two digits below 50 belong to this century, and three digits count from 1900. */
const fullYear = (text: string): number => {
  const year = Number(text);
  if (text.length === 4) return year;
  return text.length === 2 && year < 50 ? year + 2000 : year + 1900;
};
