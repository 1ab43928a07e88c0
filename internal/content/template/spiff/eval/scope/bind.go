package scope

import (
	"fmt"
	"strconv"

	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Named is an evaluated named argument.
type Named struct {
	Name string
	Node *value.Node
}

// arguments matches arguments to parameters. Parameters without an argument
// stay nil; rest holds the surplus of a variadic lambda.
func (l *Lambda) arguments(args []*value.Node, named []Named) (bound []*value.Node, rest []*value.Node, err error) {
	params := l.Def.Params
	bound = make([]*value.Node, len(params))
	for _, n := range named {
		i, err := l.parameter(n.Name)
		if err != nil {
			return nil, nil, err
		}
		if bound[i] != nil {
			return nil, nil, fmt.Errorf("parameter %q is given twice", params[i].Name)
		}
		if l.Def.Variadic && i == len(params)-1 {
			if _, ok := n.Node.Value.(*value.List); !ok {
				return nil, nil, fmt.Errorf("variable parameter %q needs a list", params[i].Name)
			}
		}
		bound[i] = n.Node
	}
	next := 0
	for _, a := range args {
		for next < len(params) && bound[next] != nil {
			next++
		}
		switch {
		case next < len(params) && !(l.Def.Variadic && next == len(params)-1):
			bound[next] = a
		case l.Def.Variadic && bound[len(params)-1] == nil:
			rest = append(rest, a)
		default:
			return nil, nil, fmt.Errorf("too many arguments: %d are expected", len(params))
		}
	}
	return bound, rest, nil
}

// parameter finds a parameter by name or by its number.
func (l *Lambda) parameter(name string) (int, error) {
	for i, p := range l.Def.Params {
		if p.Name == name {
			return i, nil
		}
	}
	n, err := strconv.Atoi(name)
	if err != nil {
		return 0, fmt.Errorf("there is no parameter %q", name)
	}
	if n < 1 || n > len(l.Def.Params) {
		return 0, fmt.Errorf("parameter number %d is out of range 1 to %d", n, len(l.Def.Params))
	}
	return n - 1, nil
}

// Bind gives every parameter a value.
func (l *Lambda) Bind(args []*value.Node, named []Named) ([]Local, error) {
	bound, rest, err := l.arguments(args, named)
	if err != nil {
		return nil, err
	}
	names := make([]Local, len(bound))
	for i, p := range l.Def.Params {
		n := bound[i]
		switch {
		case n != nil:
		case l.Def.Variadic && i == len(bound)-1:
			n = value.New(value.NewList(rest))
		case l.defaults[i] != nil:
			n = l.defaults[i]
		default:
			return nil, fmt.Errorf("argument for parameter %q is missing", p.Name)
		}
		names[i] = Local{Name: p.Name, Node: n}
	}
	return names, nil
}

// Curry binds some parameters and returns a lambda over the others.
func (l *Lambda) Curry(args []*value.Node, named []Named) (*Lambda, error) {
	bound, rest, err := l.arguments(args, named)
	if err != nil {
		return nil, err
	}
	next := &Lambda{place: l.place, Captured: make(map[string]*value.Node, len(l.Captured)+len(bound))}
	for k, n := range l.Captured {
		next.Captured[k] = n
	}
	def := &syntax.Lambda{Body: l.Def.Body}
	for i, p := range l.Def.Params {
		last := l.Def.Variadic && i == len(bound)-1
		switch {
		case bound[i] != nil:
			next.Captured[p.Name] = bound[i]
		case last && len(rest) > 0:
			next.Captured[p.Name] = value.New(value.NewList(rest))
		default:
			def.Variadic = last
			def.Params = append(def.Params, p)
			next.defaults = append(next.defaults, l.defaults[i])
		}
	}
	next.Def = def
	next.weigh()
	return next, nil
}

// AutoCurries reports whether a call with too few arguments is a partial application, which old
// templates rely on.
func (l *Lambda) AutoCurries(given int) bool {
	if l.Def.Variadic || given >= len(l.Def.Params) {
		return false
	}
	for _, p := range l.Def.Params {
		if p.Default != nil {
			return false
		}
	}
	return true
}
