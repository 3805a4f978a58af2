/// How many times longer than stated things may take: a positive number in the environment, 1 without it.
///
/// For machines that are slow or shared. It moves no limit that a run is given, only how long it may take to come back.
const SLACK: &str = "ISOLITH_TEST_SLACK";

/// The factor that `ISOLITH_TEST_SLACK` gives.
pub fn slack() -> f64 {
    let given = std::env::var(SLACK).ok().and_then(|text| text.parse::<f64>().ok());
    given.filter(|factor| factor.is_finite() && *factor > 0.0).unwrap_or(1.0)
}
