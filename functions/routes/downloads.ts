import { cacheControl } from '../../src/contract/answer-headers.ts';
import { downloadsSchema } from '../../src/contract/records.ts';
import { successMessage } from '../../src/contract/success-message.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Handler } from '../environment.ts';
import { HttpError, jsonAnswer, notFound } from '../http/answers.ts';
import { askIndex, turnsOf } from '../http/ask-index.ts';
import { clientNetwork } from '../http/client-address.ts';
import { readJson } from '../http/request-body.ts';
import { createRooms, type Room } from '../http/rooms.ts';

/** The largest body, in bytes: 256 downloads of a kilobyte each. */
const largestBody = 256 * 1024;

/** The operations of the download counters (decisions, section 7). */
export const downloadHandlers = (dependencies: Dependencies) => {
  const rooms = createRooms();

  const countReported = async (context: Parameters<Handler>[0], room: Room): Promise<number> => {
    const result = downloadsSchema.safeParse(await readJson(context.req.raw, largestBody, room));
    if (!result.success) {
      const [issue] = result.error.issues;
      const field = issue?.path.join('.');
      throw new HttpError(400, field ? `Field '${field}' ${issue?.message}` : `${issue?.message}`);
    }
    // Otherwise anybody could fill the counters with invented packages (decisions, section 7).
    const known = await askIndex(dependencies, turnsOf(dependencies, context), (index) => index.known(result.data));
    const network = clientNetwork(context.env?.clientAddress ?? '');
    return known.length > 0 ? dependencies.downloads.add(known, network) : 0;
  };

  return {
    downloadIngest: async (context) => {
      const room = rooms.open(context.env?.clientAddress ?? '');
      try {
        const count = await countReported(context, room);
        const text = JSON.stringify({ message: successMessage, date: dependencies.now().toISOString(), count });
        return await jsonAnswer(context.req.raw, dependencies, text, { cache: cacheControl.none });
      } finally {
        room.close();
      }
    },

    downloadCount: async (context) => {
      const { req, var: found } = context;
      const id = found.segments.at(-1) ?? '';
      const data = await dependencies.downloads.read(id);
      // Counts outlive their package. A package without counts may still be known.
      if (
        data.total === 0 &&
        !(await askIndex(dependencies, turnsOf(dependencies, context), (index) => index.knows(id)))
      )
        throw notFound();
      const text = JSON.stringify({ message: successMessage, date: dependencies.now().toISOString(), data });
      return jsonAnswer(req.raw, dependencies, text, { cache: cacheControl.shared });
    },
  } satisfies Record<string, Handler>;
};
