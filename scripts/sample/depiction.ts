import type { SamplePackage } from './read-sample.ts';

const markdown = (text: string) => ({ class: 'DepictionMarkdownView', markdown: text });
const row = (title: string, text: string) => ({ class: 'DepictionTableTextView', title, text });

const paragraphs = (description: string): string => description.trim().split('\n').slice(1).join('\n').trim();

/**
 * The native depiction of a package, as package managers show it: a tab that describes it, and one with its changes.
 * `headerUrl` is the address of its header image, if it has one.
 */
export const composeDepiction = (
  { tagline, tint, features }: NonNullable<SamplePackage['depiction']>,
  described: SamplePackage,
  headerUrl: string | undefined,
): object => {
  const text = paragraphs(described.description);
  const list = features?.map((feature) => `- ${feature}`).join('\n');
  const version = described.releases[0]?.version ?? '';
  return {
    minVersion: '0.1',
    ...(headerUrl === undefined ? {} : { headerImage: headerUrl }),
    tintColor: tint,
    class: 'DepictionTabView',
    tabs: [
      {
        tabname: 'Details',
        class: 'DepictionStackView',
        views: [
          { class: 'DepictionSubheaderView', title: tagline, useBoldText: true },
          ...(text === '' ? [] : [markdown(text)]),
          ...(list === undefined ? [] : [markdown(list)]),
          { class: 'DepictionSeparatorView' },
          row('Version', version),
          row('Author', described.author ?? described.maintainer),
        ],
      },
      {
        tabname: 'Changes',
        class: 'DepictionStackView',
        views: described.releases.flatMap(({ version: title, changes }) => [
          { class: 'DepictionSubheaderView', title, useBoldText: true },
          markdown(changes),
        ]),
      },
    ],
  };
};
