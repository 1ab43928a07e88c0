package eval

import (
	"go.landscaper.dev/internal/spiff/builtin"
	"go.landscaper.dev/internal/spiff/builtin/address"
	"go.landscaper.dev/internal/spiff/builtin/call"
	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

func steps(names ...string) []syntax.Step {
	list := make([]syntax.Step, len(names))
	for i, n := range names {
		list[i] = syntax.Step{Key: n}
	}
	return list
}

// auto sums up the instances of all jobs of a resource pool.
func (e *env) auto() (value.Value, error) {
	place := e.site.task.path.steps(true)
	if len(place) != 3 || place[0] != "resource_pools" || place[2] != "size" {
		return nil, fail("auto only allowed for the size of a resource pool")
	}
	_, pool := keyStep(place[1], "")
	e.site.task.refers = e.shownStub(e.site.task.path)
	v, err := e.whole(&syntax.Ref{Absolute: true, Steps: steps("jobs")})
	if err != nil {
		return nil, err
	}
	jobs, ok := v.(*value.List)
	if !ok {
		return nil, fail("auto needs a list of jobs")
	}
	var sum value.Int
	for _, n := range jobs.Items {
		job, ok := n.Value.(*value.Map)
		if !ok {
			continue
		}
		if name, ok := job.Field("resource_pool").(value.String); !ok || name.Text != pool {
			continue
		}
		instances, ok := job.Field("instances").(value.Int)
		if !ok {
			return nil, fail("a job of the resource pool has no integer as instances")
		}
		sum += instances
	}
	return sum, nil
}

// staticIPs returns the addresses of a job in a network.
func (e *env) staticIPs(args []syntax.Expr) (value.Value, error) {
	nodes, undefined, err := e.items(itemsOf(args))
	if err != nil || undefined {
		return value.Undefined{}, err
	}
	e.site.task.refers = e.shownStub(e.site.task.path)
	positions := make([]value.Value, len(nodes))
	for i, n := range nodes {
		positions[i] = n.Value
	}
	if _, err := e.whole(&syntax.Ref{Absolute: true, Steps: steps("networks")}); err != nil {
		return nil, err
	}
	name, err := e.whole(&syntax.Ref{Steps: steps("name")})
	if err != nil {
		return nil, err
	}
	network, ok := name.(value.String)
	if !ok {
		return nil, fail("name of the network must be a string, not %s", value.A(name))
	}
	count, err := e.whole(&syntax.Ref{Steps: steps("instances")})
	if err != nil {
		return nil, err
	}
	instances, ok := count.(value.Int)
	if !ok {
		return nil, fail("instances must be an integer, not %s", value.A(count))
	}
	texts, err := e.staticRanges(network.Text)
	if err != nil {
		return nil, err
	}
	c := &call.Call{Host: host{e}, Function: builtin.Lookup("static_ips")}
	ranges, err := address.Ranges(c, texts)
	if err != nil {
		return nil, clean(err)
	}
	flat, err := address.Positions(c, positions)
	if err != nil {
		return nil, clean(err)
	}
	v, err := address.PickAddresses(c, ranges, int64(instances), flat)
	return v, clean(err)
}

// staticRanges collects the static ranges of all subnets of a network.
func (e *env) staticRanges(name string) ([]string, error) {
	path := append(steps("networks"), syntax.Step{Key: name})
	v, err := e.whole(&syntax.Ref{Absolute: true, Steps: append(path, syntax.Step{Key: "subnets"})})
	if err != nil {
		return nil, err
	}
	subnets, ok := v.(*value.List)
	if !ok {
		return nil, fail("subnets of a network must be a list")
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
