package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"

	api "go.landscaper.dev/api/kustomize/v1alpha1"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/runtime/sandbox"
)

// handled names what a process is asked for.
const handled = "kustomize"

// Builder builds kustomizations for tenants.
type Builder interface {
	Build(ctx context.Context, tenant string, files *memfs.Tree, config *api.ProviderConfiguration) ([]*unstructured.Unstructured, error)
}

// Here is the Builder of this process. It is for tests, and for callers that trust the source: what
// takes all memory or time takes that of this process.
type Here struct{}

// Build implements Builder.
func (Here) Build(ctx context.Context, _ string, files *memfs.Tree, config *api.ProviderConfiguration) ([]*unstructured.Unstructured, error) {
	return Build(ctx, files, config)
}

// Process builds kustomizations in the processes of a pool.
type Process struct{ Pool *sandbox.Pool }

// request is a source with a configuration on its way.
type request struct {
	Source memfs.Parts
	Config []byte
}

// response has the objects, or says what is wrong with the kustomization.
type response struct {
	Objects [][]byte
	Wrong   string
}

// Build implements Builder.
func (p Process) Build(ctx context.Context, tenant string, files *memfs.Tree, config *api.ProviderConfiguration) ([]*unstructured.Unstructured, error) {
	encode := func() ([]byte, error) {
		r, err := encodeRequest(files, config)
		if err != nil {
			return nil, err
		}
		return sandbox.Encode(r)
	}
	raw, err := p.Pool.Do(ctx, sandbox.Work{Tenant: tenant, Name: handled, Title: "building the kustomization", Encode: encode})
	if err != nil {
		return nil, err // says what failed
	}
	answer := &response{}
	if err := sandbox.Decode(raw, answer); err != nil {
		return nil, err
	}
	if answer.Wrong != "" {
		return nil, errors.New(answer.Wrong)
	}
	built := make([]*unstructured.Unstructured, len(answer.Objects))
	for i, raw := range answer.Objects {
		built[i] = &unstructured.Unstructured{}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &built[i].Object); err != nil {
			return nil, errors.New("an object of the kustomization cannot be read again")
		}
	}
	return built, nil
}

func encodeRequest(files *memfs.Tree, config *api.ProviderConfiguration) (*request, error) {
	parts, err := memfs.PartsOf(files)
	if err != nil {
		return nil, fmt.Errorf("read the files of the source: %w", err)
	}
	raw, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encode the configuration: %w", err)
	}
	return &request{Source: parts, Config: raw}, nil
}

// Handlers are what the process does for a Process.
func Handlers() map[string]sandbox.Handler { return map[string]sandbox.Handler{handled: buildHere} }

func buildHere(ctx context.Context, body []byte, _ sandbox.Ask) ([]byte, error) {
	r := &request{}
	if err := sandbox.Decode(body, r); err != nil {
		return nil, err
	}
	files, err := r.Source.Tree()
	if err != nil {
		return nil, fmt.Errorf("read the files of the source: %w", err)
	}
	config := &api.ProviderConfiguration{}
	if err := json.Unmarshal(r.Config, config); err != nil {
		return nil, fmt.Errorf("decode the configuration: %w", err)
	}
	answer := &response{}
	built, err := Build(ctx, files, config)
	if err != nil {
		answer.Wrong = err.Error()
	}
	for _, object := range built {
		raw, err := object.MarshalJSON()
		if err != nil {
			return nil, errors.New("an object of the kustomization cannot be written")
		}
		answer.Objects = append(answer.Objects, raw)
	}
	return sandbox.Encode(answer)
}
