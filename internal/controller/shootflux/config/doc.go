// Package config makes one effective configuration of the extension shoot-flux out of
// what people write: a ConfigMap for a project, or a provider configuration for a
// shoot. Everything in it was checked, and everything that is wrong is said at once
// (see [Invalid]), with the field and what to do, never with a value.
//
// [Load] finds the configuration of a shoot, [Config.Resolve] checks it against what
// the operator allows and the shoot has. The decoders accept fields that they do not
// know; [UnknownFields] and [UnknownKeys] find them, for those who refuse them.
package config
