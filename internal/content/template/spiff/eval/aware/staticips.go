package aware

import (
	"go.landscaper.dev/internal/content/template/spiff/builtin"
	"go.landscaper.dev/internal/content/template/spiff/builtin/address"
	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/eval/expression"
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// staticIPs returns the addresses of a job in a network.
func staticIPs(e *expression.Env, args []syntax.Expr) (value.Value, error) {
	nodes, undefined, err := e.Items(expression.ItemsOf(args))
	if err != nil || undefined {
		return value.Undefined{}, err
	}
	e.Site.Task.Refers = e.ShownStub(e.Site.Task.Path)
	positions := make([]value.Value, len(nodes))
	for i, n := range nodes {
		positions[i] = n.Value
	}
	if _, err := e.Whole(&syntax.Ref{Absolute: true, Steps: syntax.KeySteps("networks")}); err != nil {
		return nil, err
	}
	name, err := e.Whole(&syntax.Ref{Steps: syntax.KeySteps("name")})
	if err != nil {
		return nil, err
	}
	network, ok := name.(value.String)
	if !ok {
		return nil, outcome.Fail("name of the network must be a string, not %s", value.A(name))
	}
	count, err := e.Whole(&syntax.Ref{Steps: syntax.KeySteps("instances")})
	if err != nil {
		return nil, err
	}
	instances, ok := count.(value.Int)
	if !ok {
		return nil, outcome.Fail("instances must be an integer, not %s", value.A(count))
	}
	texts, err := staticRanges(e, network.Text)
	if err != nil {
		return nil, err
	}
	c := &call.Call{Host: e.AsHost(), Function: builtin.Lookup("static_ips")}
	ranges, err := address.Ranges(c, texts)
	if err != nil {
		return nil, outcome.Clean(err)
	}
	flat, err := address.Positions(c, positions)
	if err != nil {
		return nil, outcome.Clean(err)
	}
	v, err := address.PickAddresses(c, ranges, int64(instances), flat)
	return v, outcome.Clean(err)
}

// staticRanges collects the static ranges of all subnets of a network.
func staticRanges(e *expression.Env, name string) ([]string, error) {
	path := append(syntax.KeySteps("networks"), syntax.Step{Key: name})
	v, err := e.Whole(&syntax.Ref{Absolute: true, Steps: append(path, syntax.Step{Key: "subnets"})})
	if err != nil {
		return nil, err
	}
	subnets, ok := v.(*value.List)
	if !ok {
		return nil, outcome.Fail("subnets of a network must be a list")
	}
	var texts []string
	for _, n := range subnets.Items {
		subnet, ok := n.Value.(*value.Map)
		if !ok {
			continue
		}
		static, ok := subnet.Field("static").(*value.List)
		if !ok {
			continue
		}
		for _, entry := range static.Items {
			if s, ok := entry.Value.(value.String); ok {
				texts = append(texts, s.Text)
			}
		}
	}
	return texts, nil
}
