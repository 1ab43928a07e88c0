// Package egress says where this process may connect to for the sake of what users
// write: Targets, registries, Git, object stores, charts, template functions. There
// is one [Policy] for all of them.
//
// An address is checked when it is dialled, after a name was resolved: a name can
// lead anywhere, and elsewhere the next time. Without any setting, addresses of this
// machine, of its link, of groups, and those where clouds hand out credentials are
// refused; private networks are where honest clusters and registries live, and are
// allowed.
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
// A refusal is a [*Refused], which errors.As finds behind the errors of net and
// net/http. It is for good: another attempt ends in the same way. Its message names
// the host as it was asked for and the rule, never what a name was resolved to and
// never anything that a server has answered.
//
// [Unrestricted] is for programs that act for the user who runs them, such as the
// command line. Servers in tests, demos and benchmarks set AllowLoopback.
package egress
