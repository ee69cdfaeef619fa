import { successMessage } from '../../src/contract/envelope.ts';
import { downloadsSchema } from '../../src/contract/records.ts';
import { cacheControl, HttpError, jsonAnswer } from '../answers.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Handler } from '../environment.ts';
import { readJson } from '../request-body.ts';

/** The largest body, in bytes: 256 downloads of a kilobyte each. */
const largestBody = 256 * 1024;

export const downloadHandlers = (dependencies: Dependencies) =>
  ({
    downloadIngest: async ({ req }) => {
      const result = downloadsSchema.safeParse(await readJson(req.raw, largestBody));
      if (!result.success) {
        const [issue] = result.error.issues;
        const where = issue?.path.join('.') ?? '';
        throw new HttpError(
          400,
          where === '' ? (issue?.message ?? 'The body is not valid') : `${where}: ${issue?.message}`,
        );
      }
      await dependencies.downloads.add(result.data);
      const date = dependencies.now().toISOString();
      const text = JSON.stringify({ message: successMessage, date, count: result.data.length });
      return jsonAnswer(req.raw, dependencies, text, { cache: cacheControl.none });
    },
  }) satisfies Record<string, Handler>;
