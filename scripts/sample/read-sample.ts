import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readYaml as parseYaml } from '../../src/contract/yaml.ts';

const line = z.string().regex(/^\P{Cc}+$/u, 'must be one line');
const relation = line.optional();

// The name of a picture in the folder `images`, without its ending.
const image = z.string().regex(/^[a-z0-9-]+$/);

const architectures = z.array(z.enum(['iphoneos-arm', 'iphoneos-arm64', 'all'])).min(1);

// The fields of a manifest entry, except the slug, which is the folder's name, and the address, which we choose.
const repositorySchema = z.strictObject({
  entry: z.record(z.string(), z.unknown()),
  release: z.strictObject({
    origin: line,
    label: line,
    suite: line,
    codename: line,
    version: line,
    description: line,
  }),
  date: z.iso.datetime().transform((text) => new Date(text)),
  compressions: z.array(z.enum(['gz', 'zst'])).min(1),
  icon: image,
  payment: z.strictObject({ endpoint: z.url(), gateway: z.url() }).optional(),
});

const packageSchema = z.strictObject({
  // Debian Policy, section 5.6.7.
  package: z.string().regex(/^[a-z0-9][a-z0-9+.-]+$/),
  name: line.optional(),
  section: line.optional(),
  author: line.optional(),
  maintainer: line,
  priority: z.enum(['required', 'optional']).optional(),
  essential: z.boolean().optional(),
  homepage: z.url().optional(),
  /** The synopsis on the first line and, after an empty line, the extended text. */
  description: z.string().min(1),
  preDepends: relation,
  depends: relation,
  recommends: relation,
  suggests: relation,
  enhances: relation,
  conflicts: relation,
  breaks: relation,
  replaces: relation,
  provides: relation,
  tags: z.array(line).optional(),
  icon: image.optional(),
  header: image.optional(),
  architectures,
  depiction: z
    .strictObject({ tagline: line, tint: z.string().regex(/^#[0-9a-f]{6}$/), features: z.array(line).optional() })
    .optional(),
  releases: z
    .array(
      z.strictObject({
        version: z.string().regex(/^(?:\d+:)?\d[A-Za-z0-9.+~-]*$/),
        architectures: architectures.optional(),
        changes: line,
      }),
    )
    .min(1),
});

/** A package of the sample as people write it: what its releases have in common, and the releases. */
export type SamplePackage = z.infer<typeof packageSchema>;

/** A repository of the sample as people write it, with its pictures by name. */
export type SampleRepository = z.infer<typeof repositorySchema> & {
  slug: string;
  packages: SamplePackage[];
  images: ReadonlyMap<string, Uint8Array>;
};

const readYaml = async <Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.output<Schema>> => {
  const checked = schema.safeParse(parseYaml(await readFile(path, 'utf8')));
  if (!checked.success) throw new Error(`${path}: ${z.prettifyError(checked.error)}`);
  return checked.data;
};

const readImages = async (folder: string): Promise<Map<string, Uint8Array>> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.png')).sort();
  return new Map(
    await Promise.all(names.map(async (name) => [name.slice(0, -4), await readFile(join(folder, name))] as const)),
  );
};

/** Reads the repositories below a folder, one from each of its folders, sorted by slug. Throws if one is malformed. */
export const readSample = async (folder: string): Promise<SampleRepository[]> => {
  const slugs = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  return Promise.all(
    slugs
      .map((entry) => entry.name)
      .sort()
      .map(async (slug) => ({
        slug,
        ...(await readYaml(join(folder, slug, 'repository.yaml'), repositorySchema)),
        packages: await readYaml(join(folder, slug, 'packages.yaml'), z.array(packageSchema)),
        images: await readImages(join(folder, slug, 'images')),
      })),
  );
};
