package load

import "context"

// choices are the operations with their weights.
var choices = []struct {
	weight int
	do     func(*client, context.Context) error
}{
	{18, (*client).createProject},
	{10, (*client).rename},
	{10, (*client).update},
	{12, (*client).archive},
	{12, (*client).activate},
	{4, (*client).delete},
	{4, (*client).deleteWithGrace},
	{4, (*client).cancelDelete},
	{20, (*client).createScreen},
	{4, (*client).moveScreen},
	{10, (*client).createComment},
	{3, (*client).createComments},
	{2, (*client).setLimit},
	{14, (*client).doKey},
	{10, (*client).twoSteps},
	{12, (*client).claimSerials},
	{12, (*client).applyMessage},
	{6, (*client).createFolder},
	{6, (*client).deleteFolder},
	{5, (*client).restoreFolder},
}

// step is one operation, drawn by weight.
func (c *client) step(ctx context.Context) error {
	total := 0
	for _, choice := range choices {
		total += choice.weight
	}
	n := c.rand.IntN(total)
	for _, choice := range choices {
		if n -= choice.weight; n < 0 {
			return choice.do(c, ctx)
		}
	}
	return nil
}
