import { buildOptions } from './build-options.ts';
import { tellUnknownVariables } from './known-variables.ts';
import { type OptionValues, variableOf } from './options.ts';

/**
 * The environment of a build that another command starts as a process: that command's own flags and variables come
 * before its environment. `port` is where the result will be served.
 */
export const composeBuildEnvironment = (
  values: OptionValues<typeof buildOptions> & { readonly port: number },
  environment: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv => {
  const flags = Object.entries(buildOptions).flatMap(([name, option]): [string, string][] => {
    const value = values[name as keyof typeof buildOptions];
    return value === undefined
      ? []
      : [[variableOf(name, option), Array.isArray(value) ? value.join(' ') : String(value)]];
  });
  // Unknown variables are reported once, by the command that was called.
  const known = Object.entries(environment).filter(([name]) => tellUnknownVariables({ [name]: '' }) === undefined);
  const isUsual = values['base-url'] === buildOptions['base-url'].default;
  return {
    ...Object.fromEntries(known),
    ...Object.fromEntries(flags),
    // Links should lead to the server that is started, unless a public address is given.
    ...(isUsual ? { DEBDEX_BASE_URL: `http://localhost:${values.port}` } : {}),
  };
};
