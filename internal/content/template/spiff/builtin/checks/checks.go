package checks

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/Masterminds/semver/v3"

	"go.landscaper.dev/internal/content/template/spiff/builtin/address"
	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/builtin/crypt"
	"go.landscaper.dev/internal/content/template/spiff/builtin/text"
	"go.landscaper.dev/internal/content/template/spiff/builtin/versions"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// checkFunc is one named check.
type checkFunc func(c *call.Call, v value.Value, args []value.Value) (verdict, error)

// checks are the named checks of validate.
func checks() map[string]checkFunc {
	return map[string]checkFunc{
		"empty": checkEmpty, "type": checkType,
		"value": checkValue, "=": checkValue, "valueset": checkValueSet,
		"gt": comparing("gt"), ">": comparing("gt"), "lt": comparing("lt"), "<": comparing("lt"),
		"ge": comparing("ge"), ">=": comparing("ge"), "le": comparing("le"), "<=": comparing("le"),
		"match": checkMatch, "~=": checkMatch,
		"list": checkList, "map": checkMap,
		"mapfield": checkField(true), "optionalfield": checkField(false),
		"and": checkAnd, "or": checkOr, "not": checkNot, "!": checkNot,
		"ip": textual("ip address", address.IsIP), "cidr": textual("CIDR", address.IsCIDR),
		"dnslabel":          textual("dns label", isLabel),
		"dnsdomain":         textual("dns domain", isDomain),
		"wildcarddnsdomain": textual("wildcard dns domain", isWildcard),
		"dnsname":           textual("dns name", func(s string) bool { return isDomain(s) || isWildcard(s) }),
		"semver":            checkSemver,
		"publickey":         textual("public key", crypt.IsPublicKey),
		"privatekey":        textual("private key", crypt.IsPrivateKey),
		"certificate":       textual("certificate", crypt.IsCertificate),
		"ca":                textual("certificate authority", crypt.IsCA),
	}
}

var errArguments = errors.New("wrong number of arguments for the check")

func checkEmpty(_ *call.Call, v value.Value, _ []value.Value) (verdict, error) {
	switch v.(type) {
	case value.String, *value.List, *value.Map:
		if value.Truth(v) {
			return no("is not empty")
		}
		return yes("is empty")
	}
	return verdict{}, fmt.Errorf("empty does not work for %s", value.A(v))
}

func checkType(_ *call.Call, v value.Value, args []value.Value) (verdict, error) {
	if len(args) == 0 {
		return verdict{}, errArguments
	}
	var names []string
	for _, a := range args {
		name, ok := a.(value.String)
		if !ok {
			return verdict{}, fmt.Errorf("type name must be a string, not %s", value.A(a))
		}
		if name.Text == value.TypeName(v) {
			return yes("is of type %s", name.Text)
		}
		names = append(names, name.Text)
	}
	return no("is not of type %s", strings.Join(names, " or "))
}

func checkValue(c *call.Call, v value.Value, args []value.Value) (verdict, error) {
	if len(args) != 1 {
		return verdict{}, errArguments
	}
	if same, err := value.Equal(v, args[0]); err != nil || !same {
		return no("invalid value %s", c.Show(v))
	}
	return yes("valid value %s", c.Show(v))
}

func checkValueSet(c *call.Call, v value.Value, args []value.Value) (verdict, error) {
	if len(args) != 1 {
		return verdict{}, errArguments
	}
	set, ok := args[0].(*value.List)
	if !ok {
		return verdict{}, fmt.Errorf("valueset needs a list, not %s", value.A(args[0]))
	}
	for _, n := range set.Items {
		if same, err := value.Equal(v, n.Value); err == nil && same {
			return yes("valid value %s", c.Show(v))
		}
	}
	return no("invalid value %s", c.Show(v))
}

// order compares numbers with numbers and texts with texts. ok is false for NaN.
func order(a, b value.Value) (order int, ok bool, err error) {
	switch a.(type) {
	case value.Int, value.Float, value.String, value.Bytes:
		if order, ok, err = value.Compare(a, b); err == nil {
			return order, ok, nil
		}
	}
	return 0, false, fmt.Errorf("%s cannot be compared with %s", value.A(a), value.A(b))
}

func comparing(op string) checkFunc {
	words := map[string][2]string{
		"gt": {"greater than", "less than or equal to"}, "ge": {"greater than or equal to", "less than"},
		"lt": {"less than", "greater than or equal to"}, "le": {"less than or equal to", "greater than"},
	}
	return func(c *call.Call, v value.Value, args []value.Value) (verdict, error) {
		if len(args) != 1 {
			return verdict{}, errArguments
		}
		cmp, ordered, err := order(v, args[0])
		if err != nil {
			return verdict{}, err
		}
		ok := map[string]bool{"gt": cmp > 0, "ge": cmp >= 0, "lt": cmp < 0, "le": cmp <= 0}[op]
		if ok && ordered {
			return yes("is %s %s", words[op][0], c.Show(args[0]))
		}
		return no("is %s %s", words[op][1], c.Show(args[0]))
	}
}

func checkMatch(c *call.Call, v value.Value, args []value.Value) (verdict, error) {
	if len(args) != 1 {
		return verdict{}, errArguments
	}
	s, ok := v.(value.String)
	pattern, ok2 := args[0].(value.String)
	if !ok || !ok2 {
		return verdict{}, fmt.Errorf("match needs strings, not %s and %s", value.A(v), value.A(args[0]))
	}
	re, err := text.Compile(c, pattern.Text)
	if err != nil {
		return verdict{}, err
	}
	if !re.MatchString(s.Text) {
		return no("invalid value %s", c.Show(v))
	}
	return yes("valid value %s", c.Show(v))
}

func checkList(c *call.Call, v value.Value, args []value.Value) (verdict, error) {
	list, ok := v.(*value.List)
	if !ok {
		return no("is no list")
	}
	for i, n := range list.Items {
		for _, a := range args {
			result, err := judge(c, n.Value, a)
			if err != nil {
				return verdict{}, fmt.Errorf("list entry %d: %w", i, err)
			}
			if !result.ok {
				return no("list entry %d %s", i, result.reason)
			}
		}
	}
	return yes("is a list")
}

func checkMap(c *call.Call, v value.Value, args []value.Value) (verdict, error) {
	m, ok := v.(*value.Map)
	if !ok {
		return no("is no map")
	}
	if len(args) > 2 {
		return verdict{}, errArguments
	}
	for i, k := range m.Keys {
		if len(args) == 2 {
			result, err := judge(c, value.String{Text: k, Data: m.Data}, args[0])
			if err != nil {
				return verdict{}, fmt.Errorf("map key %s: %w", c.Quote(k), err)
			}
			if !result.ok {
				return no("map key %s %s", c.Quote(k), result.reason)
			}
		}
		if len(args) == 0 {
			continue
		}
		result, err := judge(c, m.Items[i].Value, args[len(args)-1])
		if err != nil {
			return verdict{}, fmt.Errorf("map entry %s: %w", c.Quote(k), err)
		}
		if !result.ok {
			return no("map entry %s %s", c.Quote(k), result.reason)
		}
	}
	return yes("is a map")
}

func checkField(required bool) checkFunc {
	return func(c *call.Call, v value.Value, args []value.Value) (verdict, error) {
		if len(args) != 1 && len(args) != 2 {
			return verdict{}, errArguments
		}
		name, ok := args[0].(value.String)
		if !ok {
			return verdict{}, fmt.Errorf("field name must be a string, not %s", value.A(args[0]))
		}
		m, ok := v.(*value.Map)
		if !ok {
			return no("is no map")
		}
		field := m.Get(name.Text)
		switch {
		case field == nil && required:
			return no("has no field %s", c.Show(name))
		case field == nil, len(args) == 1:
			return yes("has a valid field %s", c.Show(name))
		}
		result, err := judge(c, field.Value, args[1])
		if err != nil {
			return verdict{}, fmt.Errorf("map entry %s: %w", c.Show(name), err)
		}
		result.reason = fmt.Sprintf("map entry %s %s", c.Show(name), result.reason)
		return result, nil
	}
}

// all applies several checks and stops at the first one with the given result.
func each(c *call.Call, v value.Value, args []value.Value, stop bool, join string) (verdict, error) {
	var reasons []string
	for _, a := range args {
		result, err := judge(c, v, a)
		if err != nil || result.ok == stop {
			return result, err
		}
		reasons = append(reasons, result.reason)
	}
	return verdict{!stop, "(" + strings.Join(reasons, " "+join+" ") + ")"}, nil
}

func checkAnd(c *call.Call, v value.Value, args []value.Value) (verdict, error) {
	return each(c, v, args, false, "and")
}

func checkOr(c *call.Call, v value.Value, args []value.Value) (verdict, error) {
	return each(c, v, args, true, "and")
}

func checkNot(c *call.Call, v value.Value, args []value.Value) (verdict, error) {
	if len(args) == 0 {
		return verdict{}, errArguments
	}
	result, err := each(c, v, args, false, "and")
	if len(args) == 1 {
		result.reason = strings.TrimSuffix(strings.TrimPrefix(result.reason, "("), ")")
	}
	result.ok = !result.ok
	return result, err
}

// textual makes a check of a test on texts.
func textual(what string, test func(string) bool) checkFunc {
	return func(_ *call.Call, v value.Value, _ []value.Value) (verdict, error) {
		s, ok := v.(value.String)
		if !ok {
			return verdict{}, fmt.Errorf("%s must be a string, not %s", what, value.A(v))
		}
		return either(test(s.Text), what)
	}
}

var (
	labelPattern  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	domainPattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

// Longest names of RFC 1123.
const (
	maxLabel  = 63
	maxDomain = 253
)

func isLabel(s string) bool { return len(s) <= maxLabel && labelPattern.MatchString(s) }

func isDomain(s string) bool { return len(s) <= maxDomain && domainPattern.MatchString(s) }

func isWildcard(s string) bool {
	rest, ok := strings.CutPrefix(s, "*.")
	return ok && len(s) <= maxDomain && domainPattern.MatchString(rest)
}

func checkSemver(c *call.Call, v value.Value, args []value.Value) (verdict, error) {
	s, ok := v.(value.String)
	if !ok {
		return verdict{}, fmt.Errorf("a version must be a string, not %s", value.A(v))
	}
	parsed, err := semver.NewVersion(s.Text)
	if err != nil {
		return no("is no version")
	}
	inner := &call.Call{Host: c.Host, Function: c.Function, Args: args}
	met, err := versions.Meets(inner, parsed, 0)
	if err != nil {
		return verdict{}, err
	}
	if !met {
		return no("version %s does not meet the constraints", c.Show(s))
	}
	return yes("version %s meets the constraints", c.Show(s))
}
