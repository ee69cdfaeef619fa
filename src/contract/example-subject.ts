/**
 * The subject of the examples in the description: one package of one repository in the described index, so that
 * everybody who tries an example gets an answer.
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
