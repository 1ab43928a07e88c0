package spiff

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/content/template/spiff"
)

// bindingFlags are the sources of bindings.
type bindingFlags struct {
	file    string
	defines []string
}

func (f *bindingFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "bindings", "", "YAML file with bindings")
	cmd.Flags().StringArrayVarP(&f.defines, "define", "D", nil,
		"binding as KEY=VALUE; dots in the key make nested maps, \\. is a dot")
}

func (f *bindingFlags) bindings(in *inputs) (map[string]any, error) {
	bindings := map[string]any{}
	if f.file != "" {
		text, err := in.read(f.file)
		if err != nil {
			return nil, err
		}
		doc, err := spiff.ParseData(text, f.file)
		if err != nil {
			return nil, err
		}
		switch data := doc.Data().(type) {
		case nil:
		case map[string]any:
			bindings = data
		default:
			return nil, fmt.Errorf("bindings in %s must be a map", f.file)
		}
	}
	defined := map[string]any{}
	for _, d := range f.defines {
		if err := define(defined, d); err != nil {
			return nil, err
		}
	}
	overlay(bindings, defined)
	return bindings, nil
}

// define stores one KEY=VALUE. Its errors name the key only: the value may be a secret.
func define(into map[string]any, definition string) error {
	key, text, ok := strings.Cut(definition, "=")
	if !ok {
		return errors.New("a binding must look like KEY=VALUE; one has no =") // what is given may be the value alone
	}
	steps := splitKey(key)
	for i, step := range steps {
		if step == "" {
			return fmt.Errorf("binding %q has an empty step", key)
		}
		if i == len(steps)-1 {
			if _, exists := into[step]; exists {
				return fmt.Errorf("binding %q conflicts with another one", key)
			}
			into[step] = scalar(text)
			return nil
		}
		next, ok := into[step].(map[string]any)
		if _, exists := into[step]; exists && !ok {
			return fmt.Errorf("binding %q conflicts with another one", key)
		}
		if next == nil {
			next = map[string]any{}
			into[step] = next
		}
		into = next
	}
	return nil
}

// splitKey splits at dots that are not escaped.
func splitKey(key string) []string {
	var steps []string
	var step strings.Builder
	for i := 0; i < len(key); i++ {
		switch {
		case key[i] == '\\' && i+1 < len(key) && key[i+1] == '.':
			step.WriteByte('.')
			i++
		case key[i] == '.':
			steps = append(steps, step.String())
			step.Reset()
		default:
			step.WriteByte(key[i])
		}
	}
	return append(steps, step.String())
}

func scalar(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	return text
}

// overlay puts the fields of over on top of base, map by map.
func overlay(base, over map[string]any) {
	for k, v := range over {
		old, oldIsMap := base[k].(map[string]any)
		next, nextIsMap := v.(map[string]any)
		if oldIsMap && nextIsMap {
			overlay(old, next)
			continue
		}
		base[k] = v
	}
}
