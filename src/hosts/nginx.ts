import { type HostRules, origin, type RuleInput } from './host-rules.ts';
import { httpMaps } from './nginx-maps.ts';
import { serverLines } from './nginx-server.ts';
import { indented, quoted } from './nginx-syntax.ts';

// nginx 1.18 or later, with only the modules that all distributions include. Everything depends on three things:
// regular expressions that find the name in an address, a chain of maps that encodes it, and `try_files`. Headers are
// variables, because a location that sets one header of its own inherits none.

/** Rules for nginx. */
export const nginxRules = (input: RuleInput): HostRules => {
  const { base, below, folder } = input;
  const { hostname } = new URL(base);
  const head = `# ${origin('nginx')}`;
  const parent = below === '' ? folder : undefined;
  const documentRoot = parent ?? '/srv/www';
  const placing =
    below === ''
      ? []
      : [`# The publication lies below a path: ${documentRoot}${below} must lead to ${folder}, as a link or a mount.`];
  return {
    files: {
      'debdex-http.conf': [head, '# For the block "http".', ...httpMaps(input), ''].join('\n'),
      'debdex-server.conf': [
        head,
        '# For a block "server", which says where its "root" is.',
        `set $debdex_below "${below}";`,
        ...serverLines(input),
        '',
      ].join('\n'),
      'debdex.conf': [
        head,
        '# A whole server, to be included in the block "http". TLS is yours to add.',
        'include debdex/debdex-http.conf;',
        'server {',
        ...indented([
          'listen 80;',
          `server_name ${hostname};`,
          ...placing,
          `root ${quoted(documentRoot)};`,
          '# The privacy page says that no requests are logged.',
          'access_log off;',
          'log_not_found off;',
          'include debdex/debdex-server.conf;',
        ]),
        '}',
        '',
      ].join('\n'),
    },
    next: 'Copy the folder to /etc/nginx/debdex (unless it is there), add "include debdex/debdex.conf;" to the block "http" of nginx.conf, or for a server of yours include the other two files as docs/hosting.md says, and run nginx -t.',
  };
};
