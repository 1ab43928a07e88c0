package plan

import (
	"context"

	"go.landscaper.dev/api/v1alpha1"
)

func (p *Plan) resourceOf(context.Context, *v1alpha1.DeployItemTemplate) (*v1alpha1.GivenResource, error) {
	return nil, nil
}
