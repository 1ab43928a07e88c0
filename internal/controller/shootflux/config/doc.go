// Package config builds the effective configuration of the extension shoot-flux from the
// configuration of users: a ConfigMap for a project, or a provider configuration for a shoot.
// Everything in it was checked, and all problems are reported at once (see [Invalid]), with the
// field and the remedy, never with a value.
//
// [Load] finds the configuration of a shoot, [Config.Resolve] checks it against what the operator
// allows and the shoot has. The decoders accept unknown fields; [UnknownFields] and [UnknownKeys]
// find them, for callers that refuse them.
package config
