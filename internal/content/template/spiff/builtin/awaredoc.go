package builtin

import "go.landscaper.dev/internal/content/template/spiff/builtin/call"

// awareFunctions are implemented by the evaluator, because they look at
// expressions instead of values.
var awareFunctions = []call.Function{
	{Name: "defined", Usage: "defined(expression…)", Result: "bool", Min: 1, Max: -1, Aware: true,
		Doc:     "Whether all expressions can be evaluated and none is undefined. nil is defined.",
		Example: `defined(nowhere)`, Gives: `false`},
	{Name: "valid", Usage: "valid(expression…)", Result: "bool", Min: 1, Max: -1, Aware: true,
		Doc: "As `defined`, and none is nil.", Example: `valid(nil)`, Gives: `false`},
	{Name: "require", Usage: "require(expression)", Result: "value", Min: 1, Max: 1, Aware: true,
		Doc: "The value; undefined and nil are an error.", Example: `require(nil) || "none"`, Gives: `none`},
	{Name: "optional", Usage: "optional(condition, expression)", Result: "value", Min: 2, Max: 2, Aware: true,
		Doc:     "The value if the condition is true, else undefined. The expression is evaluated only if needed.",
		Example: `optional(false, 1) || "gone"`, Gives: `gone`},
	{Name: "type", Usage: "type(expression)", Result: "string", Min: 1, Max: 1, Aware: true,
		Doc:     "The type of a value: nil, bool, int, float, string, list, map, template, lambda or undef.",
		Example: `type([1])`, Gives: `list`},
	{Name: "stub", Tier: 2, Usage: "stub([path])", Result: "value", Min: 0, Max: 1, Aware: true,
		Doc: "The value of a path in the first stub that has it, without any merging. A reference is taken as the " +
			"path itself; otherwise a text or a list of steps. Without path, the current one.",
		Example: `stub(a.b) || "no stub"`, Gives: `no stub`},
	{Name: "catch", Tier: 2, Usage: "catch(expression)", Result: "map", Min: 1, Max: 1, Aware: true,
		Doc: "Evaluates and never fails: a map with `valid`, `error` (the message) and, on success, `value`. The " +
			"modern form is `catch[expression|value,error|->…]`.",
		Example: `catch(1 / 0).valid`, Gives: `false`},
	{Name: "sync", Tier: 3, Usage: "sync(expression, condition [, value [, timeout]])", Result: "value", Min: 2, Max: 4, Aware: true,
		Doc: "Old form of `sync[expression|condition|value|timeout]`. Condition and value see the fields `valid`, " +
			"`error` and `value` of the last try.",
		Example: `sync(5, value == 5, value)`, Gives: `5`},
	{Name: "eval", Tier: 2, Usage: "eval(text)", Result: "value", Min: 1, Max: 1, Aware: true,
		Doc: "Evaluates a text as an expression.", Example: `eval("1 + 2")`, Gives: `3`},
	{Name: "tagdef", Tier: 2, Usage: `tagdef(name, value [, "local" or "global"])`, Result: "value", Min: 2, Max: 3, Aware: true,
		Doc:     "Tags a value and returns it. A `*` in front of the name makes the tag global.",
		Example: `tagdef("port", 80)`, Gives: `80`},
}

// boshFunctions are old helpers for BOSH manifests.
var boshFunctions = []call.Function{
	{Name: "static_ips", Usage: "static_ips(index…)", Result: "list", Min: 1, Max: -1, Aware: true,
		Doc: "Addresses for a job network of a BOSH manifest: looks up `name` (of the network) and `instances` from " +
			"its place, takes the ranges of `networks.<name>.subnets[*].static`, and returns the addresses at the " +
			"given positions, as many as there are instances."},
}
