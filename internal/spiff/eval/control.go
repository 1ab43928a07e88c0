package eval

import "go.landscaper.dev/internal/spiff/value"

func hasControl(m *value.Map) bool { return false }

func (m *mapping) control() error { return nil }
