import { cacheControl } from '../../src/contract/answer-headers.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Handler } from '../environment.ts';
import { createHealthCheck } from '../health/health.ts';
import { jsonAnswer } from '../http/answers.ts';

/** The operations that say how the service is (decisions, section 7, "Health"). */
export const serviceHandlers = (dependencies: Dependencies) => {
  const health = createHealthCheck(dependencies, dependencies.now, dependencies.tellUnhealthy);

  return {
    health: async ({ req }) => {
      const checked = await health.whole();
      const record = dependencies.replica ? { ...checked, replica: dependencies.replica() } : checked;
      const status = record.healthy ? '200 OK' : '503 Service Unavailable';
      const text = JSON.stringify({ status, date: dependencies.now().toISOString(), data: record });
      return jsonAnswer(req.raw, dependencies, text, { status: record.healthy ? 200 : 503, cache: cacheControl.none });
    },

    liveness: async ({ req }) => {
      const text = JSON.stringify({ status: '200 OK', date: dependencies.now().toISOString() });
      return jsonAnswer(req.raw, dependencies, text, { cache: cacheControl.none });
    },

    readiness: async ({ req, env }) => {
      const ready = env?.isLeaving !== true && (await health.canRead());
      const status = ready ? '200 OK' : '503 Service Unavailable';
      const text = JSON.stringify({ status, date: dependencies.now().toISOString() });
      return jsonAnswer(req.raw, dependencies, text, { status: ready ? 200 : 503, cache: cacheControl.none });
    },
  } satisfies Record<string, Handler>;
};
