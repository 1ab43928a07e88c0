// Package egress says which addresses this process may connect to on behalf of users: for Targets,
// registries, Git, object stores, charts and template functions. There is one [Policy] for all of
// them.
//
// An address is checked when it is dialled, after a name was resolved: a name can resolve to any
// address, and to another one the next time. By default, loopback, link-local and multicast
// addresses and the metadata addresses of clouds are refused; private networks are allowed, since
// many clusters and registries are there.
//
// How a client uses it:
//
//   - HTTP: [Policy.Transport] returns a transport of its own, with the checks,
//     limits in time, a bound for headers, TLS 1.2 at least, and no proxy but the
//     operator's. What redirects may do is the client's part: a transport sees each
//     hop as a request of its own, so each is checked.
//   - Anything else that takes a dialer: [Policy.DialContext].
//   - To say no before any request: [Policy.CheckHost], for addresses and for names
//     that stand for this machine.
//
// A refusal is a [*Refused], which errors.As finds in the errors of net and net/http. A refusal is
// final: another attempt fails in the same way. Its message names the requested host and the rule,
// never the resolved address and never anything that a server has answered.
//
// [Unrestricted] is for programs that act for the user who runs them, such as the
// command line. Servers in tests, demos and benchmarks set AllowLoopback.
package egress
