/**
 * What the examples of the description ask about: one package of one repository of the index that it describes, so that
 * whoever tries an example gets an answer.
 */
export interface ExampleSubject {
  readonly packageId: string;
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  readonly author: string | null;
  readonly slug: string;
  readonly uri: string;
  readonly suite: string;
  readonly ranking: number;
}
