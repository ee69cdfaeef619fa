import { expect, it } from 'vitest';
import { sectionKind } from '../../src/contract/sections.ts';

it.each<[string | null, string]>([
  ['Tweaks', 'tweaks'],
  ['Tweaks (Control Center)', 'control-center'],
  ['Addons (Activator)', 'addons'],
  ['Themes (Fonts)', 'themes'],
  ['Wallpapers', 'wallpapers'],
  ['Widgets (LockHTML)', 'widgets'],
  ['libdevel', 'libraries'],
  ['Development', 'development'],
  ['Terminal_Support', 'terminal'],
  ['Text_Editors', 'text'],
  ['Networking', 'networking'],
  ['Data_Storage', 'administration'],
  ['X_Window', 'system'],
  ['Utilities', 'utilities'],
  ['Applications', 'apps'],
  ['no such thing', 'other'],
  [null, 'other'],
])('the section %s is one of %s', (section, kind) => {
  expect(sectionKind(section)).toBe(kind);
  expect(sectionKind(section?.toUpperCase() ?? null)).toBe(kind);
});
