package expression

import (
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/place"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// auto sums up the instances of all jobs of a resource pool.
func (e *Env) auto() (value.Value, error) {
	where := e.Site.Task.Path.Steps(true)
	if len(where) != 3 || where[0] != "resource_pools" || where[2] != "size" {
		return nil, outcome.Fail("auto only allowed for the size of a resource pool")
	}
	_, pool := place.KeyStep(where[1], "")
	e.Site.Task.Refers = e.ShownStub(e.Site.Task.Path)
	v, err := e.Whole(&syntax.Ref{Absolute: true, Steps: syntax.KeySteps("jobs")})
	if err != nil {
		return nil, err
	}
	jobs, ok := v.(*value.List)
	if !ok {
		return nil, outcome.Fail("auto needs a list of jobs")
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
			return nil, outcome.Fail("a job of the resource pool has no integer as instances")
		}
		sum += instances
	}
	return sum, nil
}
