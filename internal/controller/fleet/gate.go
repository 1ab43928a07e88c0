package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/expression"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/model/fleet"
)

// gateTimeout is how long the server of a gate may take.
const gateTimeout = 10 * time.Second

// Asker asks gates.
type Asker struct {
	// Client reads exports.
	Client client.Reader
	// Transport is what the egress policy of the server permits.
	Transport http.RoundTripper
}

// Open implements Gates.
func (a *Asker) Open(ctx context.Context, gate *fleetv1alpha1.Gate, members []*fleet.Member) fleet.Verdict {
	var err error
	if gate.URL != "" {
		err = a.get(ctx, gate.URL)
	} else {
		err = a.all(ctx, gate.Expression, members)
	}
	if err != nil {
		return fleet.Verdict{Message: err.Error()}
	}
	return fleet.Verdict{Open: true}
}

// get asks a server. An answer that leads elsewhere does not count: where it leads was not written by
// the author of the Fleet.
func (a *Asker) get(ctx context.Context, address string) error {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http" {
		return fmt.Errorf("the URL is not an address of http or https")
	}
	ctx, cancel := context.WithTimeout(ctx, gateTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return fmt.Errorf("the URL is not an address of http or https")
	}
	answer, err := a.Transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("%s does not answer: %w", parsed.Host, err)
	}
	if err := answer.Body.Close(); err != nil {
		return fmt.Errorf("read the answer of %s: %w", parsed.Host, err)
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return fmt.Errorf("%s answers with status %d", parsed.Host, answer.StatusCode)
	}
	return nil
}

// all evaluates an expression for each Installation of a wave.
func (a *Asker) all(ctx context.Context, text string, members []*fleet.Member) error {
	condition, err := expression.Parse(text)
	if err != nil {
		return fmt.Errorf("the expression is not valid: %w", err)
	}
	for _, m := range members {
		if m.Installation == nil {
			continue
		}
		object, err := a.variables(ctx, m.Installation)
		if err != nil {
			return fmt.Errorf("at Installation %s: %w", m.Installation.Name, err)
		}
		switch holds, err := condition.Holds(object); {
		case err != nil:
			return fmt.Errorf("at Installation %s: %w", m.Installation.Name, err)
		case !holds:
			return fmt.Errorf("at Installation %s: the expression is false", m.Installation.Name)
		}
	}
	return nil
}

// variables are what an expression can use.
func (a *Asker) variables(ctx context.Context, inst *v1alpha1.Installation) (map[string]any, error) {
	object, err := jsonvalue.FromObject(inst)
	if err != nil {
		return nil, fmt.Errorf("read it: %w", err)
	}
	exports := map[string]any{}
	for _, export := range inst.Spec.Exports.Data {
		made := &v1alpha1.DataObject{}
		key := client.ObjectKey{Namespace: inst.Namespace, Name: v1alpha1.GenerateDataObjectName("", export.DataRef)}
		if err := a.Client.Get(ctx, key, made); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read export %s: %w", export.Name, err)
		} else if err != nil {
			continue
		}
		var value any
		if err := json.Unmarshal(made.Data.RawMessage, &value); err == nil {
			exports[export.Name] = value
		}
	}
	return map[string]any{"installation": object, "exports": exports}, nil
}
