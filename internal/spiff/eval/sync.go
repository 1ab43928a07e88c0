package eval

import (
	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

func (e *env) sync(x *syntax.Sync) (value.Value, error) { return nil, fail("todo") }

func (e *env) syncCall(args []syntax.Expr) (value.Value, error) { return nil, fail("todo") }

func (e *env) auto() (value.Value, error) { return nil, fail("todo") }
