import { isIP, type LookupFunction, Socket } from 'node:net';

// Tests run on loopback. An attempt to reach any other address is a defect in the test or in the tested code, and a
// failing connection would hide it. Every outgoing TCP connection of Node passes Socket.prototype.connect.
const loopback = /^(127(\.\d{1,3}){3}|::1|localhost)$/;
const connect = Socket.prototype.connect;

const refuse = (host: string): Error => new Error(`a test tried to connect to ${host}: tests run on loopback alone`);

// A name is allowed if the test resolves it itself, to a loopback address.
const guard =
  (lookup: LookupFunction): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, options, (error, address, family) => {
      const addresses = Array.isArray(address) ? address.map((one) => one.address) : [address];
      const stray = error ? undefined : addresses.find((one) => !loopback.test(one));
      if (stray === undefined) callback(error, address, family);
      else callback(refuse(stray), '', 0);
    });

const connectOnLoopback = function (this: Socket, ...args: unknown[]) {
  // net.connect normalises its arguments into one array before it calls this method.
  const [first] = Array.isArray(args[0]) ? args[0] : args;
  const options =
    typeof first === 'object' && first !== null
      ? (first as { host?: string; path?: string; lookup?: LookupFunction })
      : undefined;
  const host = options ? (options.host ?? 'localhost') : typeof args[1] === 'string' ? args[1] : 'localhost';
  if (options?.path === undefined && !loopback.test(host)) {
    if (isIP(host) !== 0 || options?.lookup === undefined) throw refuse(host);
    options.lookup = guard(options.lookup);
  }
  return Reflect.apply(connect, this, args);
} as typeof Socket.prototype.connect;

// Files of the unit tier share a process, which is guarded once.
if (connect.name !== connectOnLoopback.name) Socket.prototype.connect = connectOnLoopback;
