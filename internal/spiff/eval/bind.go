package eval

import (
	"fmt"
	"strconv"

	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

// named is an evaluated named argument.
type named struct {
	name string
	node *value.Node
}

// arguments matches arguments to parameters. Parameters without an argument
// stay nil; rest holds the surplus of a variadic lambda.
func (l *lambda) arguments(args []*value.Node, named []named) (bound []*value.Node, rest []*value.Node, err error) {
	params := l.def.Params
	bound = make([]*value.Node, len(params))
	for _, n := range named {
		i, err := l.parameter(n.name)
		if err != nil {
			return nil, nil, err
		}
		if bound[i] != nil {
			return nil, nil, fmt.Errorf("parameter %q is given twice", params[i].Name)
		}
		if l.def.Variadic && i == len(params)-1 {
			if _, ok := n.node.Value.(*value.List); !ok {
				return nil, nil, fmt.Errorf("variable parameter %q needs a list", params[i].Name)
			}
		}
		bound[i] = n.node
	}
	next := 0
	for _, a := range args {
		for next < len(params) && bound[next] != nil {
			next++
		}
		switch {
		case next < len(params) && !(l.def.Variadic && next == len(params)-1):
			bound[next] = a
		case l.def.Variadic && bound[len(params)-1] == nil:
			rest = append(rest, a)
		default:
			return nil, nil, fmt.Errorf("too many arguments: %d are expected", len(params))
		}
	}
	return bound, rest, nil
}

// parameter finds a parameter by name or by its number.
func (l *lambda) parameter(name string) (int, error) {
	for i, p := range l.def.Params {
		if p.Name == name {
			return i, nil
		}
	}
	n, err := strconv.Atoi(name)
	if err != nil {
		return 0, fmt.Errorf("there is no parameter %q", name)
	}
	if n < 1 || n > len(l.def.Params) {
		return 0, fmt.Errorf("parameter number %d is out of range 1 to %d", n, len(l.def.Params))
	}
	return n - 1, nil
}

// bind gives every parameter a value.
func (l *lambda) bind(args []*value.Node, named []named) ([]local, error) {
	bound, rest, err := l.arguments(args, named)
	if err != nil {
		return nil, err
	}
	names := make([]local, len(bound))
	for i, p := range l.def.Params {
		n := bound[i]
		switch {
		case n != nil:
		case l.def.Variadic && i == len(bound)-1:
			n = value.New(value.NewList(rest))
		case l.defaults[i] != nil:
			n = l.defaults[i]
		default:
			return nil, fmt.Errorf("argument for parameter %q is missing", p.Name)
		}
		names[i] = local{name: p.Name, node: n}
	}
	return names, nil
}

// curry binds some parameters and returns a lambda over the others.
func (l *lambda) curry(args []*value.Node, named []named) (*lambda, error) {
	bound, rest, err := l.arguments(args, named)
	if err != nil {
		return nil, err
	}
	next := &lambda{place: l.place, captured: make(map[string]*value.Node, len(l.captured)+len(bound))}
	for k, n := range l.captured {
		next.captured[k] = n
	}
	def := &syntax.Lambda{Body: l.def.Body}
	for i, p := range l.def.Params {
		last := l.def.Variadic && i == len(bound)-1
		switch {
		case bound[i] != nil:
			next.captured[p.Name] = bound[i]
		case last && len(rest) > 0:
			next.captured[p.Name] = value.New(value.NewList(rest))
		default:
			def.Variadic = last
			def.Params = append(def.Params, p)
			next.defaults = append(next.defaults, l.defaults[i])
		}
	}
	next.def = def
	next.weigh()
	return next, nil
}

// autoCurries tells whether a call with too few arguments is a partial
// application, which old templates rely on.
func (l *lambda) autoCurries(given int) bool {
	if l.def.Variadic || given >= len(l.def.Params) {
		return false
	}
	for _, p := range l.def.Params {
		if p.Default != nil {
			return false
		}
	}
	return true
}
